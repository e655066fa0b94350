package dev.calendar.web;

import dev.calendar.dao.UserDao;
import dev.calendar.service.UserService;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
public class Wiring {
    @Bean
    public UserService users(DataSource pool) {
        return new UserService(new UserDao(pool));
    }
}
