# SPDX-License-Identifier: MIT
# Images of Java applications without a container registry: Debian's C library, the JDK's run-time image on it, an
# application on that. For the build scripts of the examples, after scripts/common.sh.

space=$top/examples/space
suite=${BENCHCTL_SUITE:-bookworm}
label=org.benchctl.recipe
least_jdk=25
# All of Java SE, as frameworks reach for much of it (java.beans, javax.naming, java.rmi), and of the JDK what they ask for.
modules=java.se,jdk.crypto.ec,jdk.jfr,jdk.management,jdk.net,jdk.unsupported,jdk.zipfs

jdk_version() { # DIR: its feature release, as 25
    [ -x "$1/bin/jlink" ] && [ -x "$1/bin/javac" ] && sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null
}

find_jdk() {
    local dir version
    for dir in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
        version=$(jdk_version "$dir") || continue
        [ "${version:-0}" -lt $least_jdk ] || { readlink -f "$dir"; return; }
    done
    die "no JDK of at least $least_jdk in JAVA_HOME or /usr/lib/jvm" \
        "Temurin's packages (https://adoptium.net) or openjdk-$least_jdk-jdk have one"
}

hash_of() { # DIR FILES AND DIRECTORIES..., below it
    (cd "$1" && find "${@:2}" -name target -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) |
        cat - <(sha256sum <"$space/images/images.sh") | sha256sum | cut -c1-16
}

up_to_date() { # IMAGE HASH
    [ "$(docker image inspect --format "{{index .Config.Labels \"$label\"}}" "$1" 2>/dev/null)" = "$2" ]
}

fail_with() { # LOG MESSAGE
    tail -n 15 "$1" | sed 's/^/    /' >&2
    die "$2" "all of its output is in $1"
}

# What a build leaves without a name: its last step when it fails, a stage that only gave files to the next one.
remove_unnamed() { # IDS...
    local id
    for id; do
        [ "$(docker image inspect --format '{{len .RepoTags}}' "$id" 2>/dev/null)" != 0 ] ||
            docker image rm "$id" >/dev/null 2>&1 || true
    done
}

# IMAGE HASH CONTEXT [DOCKER ARGUMENTS...]
make_image() {
    local image=$1 hash=$2 context=$3 log=$logs/${1//[\/:]/-}.log began=$SECONDS before
    shift 3
    before=$(docker image inspect --format '{{.Id}}' "$image" 2>/dev/null) || true
    DOCKER_BUILDKIT=0 docker build --force-rm --label "$label=$hash" --tag "$image" "$@" "$context" >"$log" 2>&1 || {
        remove_unnamed $(sed -n 's/^ ---> \([0-9a-f]\{12\}\)$/\1/p' "$log" | tail -n 1)
        return 1
    }
    say "$image made in $((SECONDS - began)) s, $(docker image inspect --format '{{.Size}}' "$image" | numfmt --to=iec)"
    # The image that lost its tag to the new one, which a container may still need, and the ends of earlier stages.
    remove_unnamed $before $(awk '/^ ---> [0-9a-f]+$/ { id = $2 } / : FROM / && seen++ { print id }' "$log")
}

make_base() {
    local hash
    hash=$(hash_of "$space" images/base)-$suite
    ! up_to_date space/base:12 "$hash" || return 0
    need_root "make a tree of Debian packages"
    command -v mmdebstrap >/dev/null || die "no mmdebstrap command" "scripts/install-deps installs it"
    cp -r "$space/images/base" "$work/base"
    # No package is installed, their files are laid out: nothing here needs what their scripts would do.
    mmdebstrap --quiet --variant=extract --include=base-files,libc6,zlib1g,busybox \
        "$suite" "$work/tree" ${BENCHCTL_MIRROR:+"$BENCHCTL_MIRROR"} >"$logs/base.log" 2>&1 ||
        fail_with "$logs/base.log" "no tree of Debian packages could be made"
    ln -s busybox "$work/tree/bin/sh"
    tar -C "$work/tree" --sort=name --numeric-owner --exclude='./dev/*' --exclude=./etc/apt --exclude=./etc/hostname \
        --exclude=./etc/resolv.conf --exclude=./usr/share --exclude=./var -cf "$work/base/tree.tar" .
    rm -rf --one-file-system "$work/tree"
    make_image space/base:12 "$hash" "$work/base" || fail_with "$logs/space-base-12.log" "space/base:12 could not be made"
}

make_jre() {
    local hash
    hash=$(hash_of "$space" images/base images/jre)-$suite-$(sha256sum <"$jdk/release" | cut -c1-8)
    jre_hash=$hash
    ! up_to_date space/jre:25 "$hash" || return 0
    cp -r "$space/images/jre" "$work/jre"
    "$jdk/bin/jlink" --add-modules "$modules" --strip-java-debug-attributes --no-header-files --no-man-pages \
        --output "$work/jre/jre" >"$logs/jlink.log" 2>&1 || fail_with "$logs/jlink.log" "jlink of $jdk made no run-time image"
    make_image space/jre:25 "$hash" "$work/jre" ||
        fail_with "$logs/space-jre-25.log" "space/jre:25 could not be made; a JDK of a newer Debian needs BENCHCTL_SUITE"
}

# The context of an image: lib/ with the libraries, app/ with app.jar and whatever else the framework reads.
lay_out() { # PROJECT CONTEXT
    local target=$1/target
    mkdir -p "$2/app"
    if [ -d "$target/quarkus-app" ]; then
        cp -rp "$target/quarkus-app/." "$2/app/"
        mv "$2/app/lib" "$2/lib"
        mv "$2/app/quarkus-run.jar" "$2/app/app.jar"
    else
        cp -rp "$target/lib" "$2/lib"
        cp -p "$target/app.jar" "$2/app/app.jar"
    fi
}

# PROJECT IMAGE HASH: IMAGE:jvm of a Maven project that makes target/app.jar and target/lib, or target/quarkus-app.
make_jvm_image() {
    local project=$1 image=$2 hash=$3 log began=$SECONDS
    log=$logs/${image/\//-}-maven.log
    if [ -z "$force" ] && up_to_date "$image:jvm" "$hash"; then
        say "$image:jvm is up to date"
        return
    fi
    (cd "$project" && rm -rf target && JAVA_HOME=$jdk mvn -q -B -DskipTests package) >"$log" 2>&1 ||
        fail_with "$log" "Maven could not package ${project#"$top/"}"
    cp -r "$space/images/jvm" "$work/context"
    lay_out "$project" "$work/context" >"$log" 2>&1 ||
        fail_with "$log" "what Maven made of ${project#"$top/"} is not what was expected"
    say "${project#"$top/"} packaged in $((SECONDS - began)) s"
    make_image "$image:jvm" "$hash" "$work/context" || fail_with "$logs/${image/\//-}-jvm.log" "$image:jvm could not be made"
    rm -rf "$work/context"
}

# What every build of such images begins with; `check_only` and `force` are the caller's.
begin_images() { # NAME, for the folder of logs
    jdk=$(find_jdk)
    command -v mvn >/dev/null || die "no mvn command" "Debian's package maven has it"
    command -v docker >/dev/null || die "no docker command" "scripts/install-deps installs docker.io"
    engine_answers || die "no Docker engine answers" "scripts/start-engine starts one"
    say "the JDK is $jdk"
    if [ -n "$check_only" ]; then
        say "Maven is $(command -v mvn), $(mvn -B --version 2>/dev/null | sed -n '1s/.*Apache Maven \([0-9.]*\).*/\1/p')"
        say "the engine is Docker $(docker version --format '{{.Server.Version}}')"
        exit 0
    fi
    work=$(mktemp -d "${TMPDIR:-/tmp}/$1-build.XXXXXX")
    logs=${TMPDIR:-/tmp}/$1-build-logs
    mkdir -p "$logs"
    trap 'rm -rf --one-file-system "$work"' EXIT
    trap 'exit 130' INT TERM HUP
    make_base
    make_jre
}
