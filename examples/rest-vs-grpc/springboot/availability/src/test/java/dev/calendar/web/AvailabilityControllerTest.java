package dev.calendar.web;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import dev.calendar.service.AvailabilityService;
import dev.calendar.service.StandIns;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Bean;
import org.springframework.test.web.servlet.MockMvc;

@WebMvcTest(AvailabilityController.class)
class AvailabilityControllerTest {
    @TestConfiguration
    static class Service {
        @Bean
        AvailabilityService availability() {
            return new AvailabilityService(new StandIns.Bookings(), new StandIns.Users());
        }
    }

    @Autowired
    private MockMvc http;

    @Test
    void a_day_is_told_whole() throws Exception {
        http.perform(get("/users/10000/availability?day=2027-01-04")).andExpect(status().isOk())
                .andExpect(content().json("{\"user\": \"10000\", \"name\": \"Ada\", \"day\": \"2027-01-04\","
                        + " \"free\": [{\"begins\": 540, \"ends\": 600}, {\"begins\": 660, \"ends\": 1020}]}"));
    }

    @Test
    void an_unknown_user_is_not_found() throws Exception {
        http.perform(get("/users/99999/availability?day=2027-01-04")).andExpect(status().isNotFound());
    }

    @Test
    void a_wrong_day_is_refused_in_words() throws Exception {
        http.perform(get("/users/10000/availability?day=tomorrow")).andExpect(status().isBadRequest())
                .andExpect(content().string("'tomorrow' is no day"));
    }

    @Test
    void a_day_must_be_given() throws Exception {
        http.perform(get("/users/10000/availability")).andExpect(status().isBadRequest());
    }
}
