/* SPDX-License-Identifier: MIT */
/* Processors: how fast they may run, who decides, how many threads share a core, and whether they are real.
 */
#include "internal.h"

#include <math.h>

struct word {
    char *text;
    size_t processors;
};

static void words_add(struct word *words, size_t *len, size_t max, char *text)
{
    for (size_t i = 0; i < *len; i++) {
        if (strcmp(words[i].text, text) == 0) {
            words[i].processors++;
            free(text);
            return;
        }
    }
    if (*len < max)
        words[(*len)++] = (struct word){text, 1};
    else
        free(text);
}

char *host_frequency_word(const char *name)
{
    enum { MAX = 8 }; /* kinds of processors in one machine; there are three at most today */
    CLEANUP(host_names_free) char **cpus = host_names("/sys/devices/system/cpu", "cpu");
    CLEANUP_VALUE(strbuf_release) struct strbuf all = STRBUF_INIT;
    struct word words[MAX];
    size_t len = 0;

    for (size_t i = 0; cpus && cpus[i]; i++) {
        char *text = cpus[i][3] >= '0' && cpus[i][3] <= '9'
                         ? host_linef("/sys/devices/system/cpu/%s/cpufreq/%s", cpus[i], name)
                         : NULL;
        if (text)
            words_add(words, &len, MAX, text);
    }
    for (size_t i = 0; i < len; i++) {
        strbuf_addf(&all, "%s%s", i ? ", " : "", words[i].text);
        if (len > 1)
            strbuf_addf(&all, " (%zu)", words[i].processors);
        free(words[i].text);
    }
    return len ? strbuf_detach(&all) : NULL;
}

/* Three drivers, three files; the Intel one says the opposite. */
const char *host_turbo(void)
{
    double no_turbo = host_number("/sys/devices/system/cpu/intel_pstate/no_turbo");
    double boost = host_number("/sys/devices/system/cpu/cpufreq/boost");
    CLEANUP_FREE char *each = NULL;

    if (!isnan(no_turbo))
        return no_turbo == 0 ? "on" : "off";
    if (!isnan(boost))
        return boost == 0 ? "off" : "on";
    each = host_frequency_word("boost"); /* amd_pstate: one per processor */
    if (!each)
        return NULL;
    return strchr(each, '1') ? "on" : "off";
}

char *host_smt(void)
{
    double active = host_number("/sys/devices/system/cpu/smt/active");
    char *control = host_line("/sys/devices/system/cpu/smt/control");

    if (isnan(active) || (control && strcmp(control, "on") != 0))
        return control;
    free(control); /* "on" where only one thread of each core is there all the same */
    return xstrdup(active > 0 ? "on" : "off");
}

char *host_hypervisor(void)
{
    /* firmware's names of vendors of virtual machines; what is not here is real, or says "hypervisor" */
    static const struct {
        const char *vendor, *name;
    } known[] = {
        {"QEMU", "qemu"},
        {"Amazon EC2", "amazon"},
        {"Google", "google"},
        {"Microsoft", "microsoft"},
        {"VMware", "vmware"},
        {"innotek", "virtualbox"},
        {"Xen", "xen"},
        {"Parallels", "parallels"},
        {"DigitalOcean", "digitalocean"},
        {"Hetzner", "hetzner"},
        {"OpenStack", "openstack"},
    };
    CLEANUP_FREE char *type = host_line("/sys/hypervisor/type");
    CLEANUP_FREE char *vendor = host_line("/sys/class/dmi/id/sys_vendor");
    CLEANUP_VALUE(strbuf_release) struct strbuf cpuinfo = STRBUF_INIT;

    if (type)
        return TAKE(type);
    bool flag = host_read("/proc/cpuinfo", &cpuinfo) == 0 && strstr(strbuf_text(&cpuinfo), " hypervisor");
    for (size_t i = 0; flag && vendor && i < ARRAY_LEN(known); i++)
        if (text_starts(vendor, known[i].vendor))
            return xstrdup(known[i].name);
    return flag ? xstrdup("yes") : NULL;
}

char *host_mitigations(void)
{
    static const char dir[] = "/sys/devices/system/cpu/vulnerabilities";
    CLEANUP(host_names_free) char **names = host_names(dir, "");
    CLEANUP_VALUE(strbuf_release) struct strbuf vulnerable = STRBUF_INIT;
    size_t mitigated = 0, open = 0, unaffected = 0;

    for (size_t i = 0; names && names[i]; i++) {
        CLEANUP_FREE char *state = host_linef("%s/%s", dir, names[i]);
        if (!state)
            continue;
        unaffected += text_starts(state, "Not affected");
        mitigated += text_starts(state, "Mitigation");
        if (text_starts(state, "Vulnerable")) {
            strbuf_addf(&vulnerable, "%s%s", open ? ", " : ": ", names[i]);
            open++;
        }
    }
    if (!mitigated && !open && !unaffected)
        return NULL;
    return xasprintf("%zu mitigated, %zu open%s", mitigated, open, strbuf_text(&vulnerable));
}
