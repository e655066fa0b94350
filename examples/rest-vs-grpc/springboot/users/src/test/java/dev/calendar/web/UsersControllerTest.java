package dev.calendar.web;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import dev.calendar.service.StoreInMemory;
import dev.calendar.service.UserService;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Bean;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;

@WebMvcTest(UsersController.class)
class UsersControllerTest {
    @TestConfiguration
    static class Users {
        @Bean
        UserService users() {
            return new UserService(new StoreInMemory());
        }
    }

    @Autowired
    private MockMvc http;

    @Test
    void a_user_is_told_whole() throws Exception {
        http.perform(get("/users/10000")).andExpect(status().isOk()).andExpect(content().json(
                "{\"id\": \"10000\", \"name\": \"Ada\", \"email\": \"ada@example.com\", \"opens\": 540, \"closes\": 1020}"));
    }

    @Test
    void an_unknown_one_is_not_found() throws Exception {
        http.perform(get("/users/99999")).andExpect(status().isNotFound());
    }

    @Test
    void a_new_one_is_made() throws Exception {
        http.perform(post("/users").contentType(MediaType.APPLICATION_JSON).content(
                        "{\"name\": \"Bob\", \"email\": \"bob@example.com\", \"opens\": 480, \"closes\": 960}"))
                .andExpect(status().isCreated()).andExpect(content().json("{\"name\": \"Bob\"}"));
    }

    @Test
    void a_wrong_one_is_refused_in_words() throws Exception {
        http.perform(post("/users").contentType(MediaType.APPLICATION_JSON).content(
                        "{\"name\": \"\", \"email\": \"bob@example.com\", \"opens\": 480, \"closes\": 960}"))
                .andExpect(status().isBadRequest()).andExpect(content().string("a user has a name"));
    }

    @Test
    void what_is_no_json_is_refused() throws Exception {
        http.perform(post("/users").contentType(MediaType.APPLICATION_JSON).content("{"))
                .andExpect(status().isBadRequest());
    }
}
