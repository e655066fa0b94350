package dev.calendar.web;

import dev.calendar.domain.Availability;
import dev.calendar.service.AvailabilityService;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class AvailabilityController {
    private final AvailabilityService availability;

    public AvailabilityController(AvailabilityService availability) {
        this.availability = availability;
    }

    @GetMapping("/users/{id}/availability")
    public ResponseEntity<Availability> free(@PathVariable("id") String id, @RequestParam("day") String day) {
        return ResponseEntity.of(availability.free(id, day));
    }

    @ExceptionHandler(IllegalArgumentException.class)
    public ResponseEntity<String> refused(IllegalArgumentException e) {
        return ResponseEntity.badRequest().body(e.getMessage());
    }
}
