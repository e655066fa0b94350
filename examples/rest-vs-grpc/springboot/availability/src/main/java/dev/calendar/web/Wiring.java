package dev.calendar.web;

import dev.calendar.dao.BookingDao;
import dev.calendar.service.AvailabilityService;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
public class Wiring {
    @Bean
    public AvailabilityService availability(DataSource pool, @Value("${users.url}") String users) {
        return new AvailabilityService(new BookingDao(pool), new RestUsers(users));
    }
}
