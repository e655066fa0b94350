package dev.calendar.web;

import dev.calendar.domain.NewUser;
import dev.calendar.domain.User;
import dev.calendar.service.UserService;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class UsersController {
    private final UserService users;

    public UsersController(UserService users) {
        this.users = users;
    }

    @GetMapping("/users/{id}")
    public ResponseEntity<User> find(@PathVariable("id") String id) {
        return ResponseEntity.of(users.find(id));
    }

    @PostMapping("/users")
    @ResponseStatus(HttpStatus.CREATED)
    public User create(@RequestBody NewUser user) {
        return users.create(user);
    }

    @ExceptionHandler(IllegalArgumentException.class)
    public ResponseEntity<String> refused(IllegalArgumentException e) {
        return ResponseEntity.badRequest().body(e.getMessage());
    }
}
