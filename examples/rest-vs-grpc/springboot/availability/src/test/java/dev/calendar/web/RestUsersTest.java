package dev.calendar.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.calendar.domain.Hours;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.web.client.HttpServerErrorException;

/** Against a server that stands in for the users service. */
class RestUsersTest {
    private HttpServer server;
    private RestUsers users;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        answer("/users/10000", 200, "{\"id\": \"10000\", \"name\": \"Ada\", \"email\": \"a@b\", \"opens\": 540, \"closes\": 1020}");
        answer("/users/99999", 404, "");
        answer("/users/broken", 500, "");
        server.start();
        users = new RestUsers("http://127.0.0.1:" + server.getAddress().getPort());
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(String path, int status, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        server.createContext(path, exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
    }

    @Test
    void a_user_has_hours() {
        assertEquals(new Hours("10000", "Ada", 540, 1020), users.find("10000").orElseThrow());
    }

    @Test
    void an_unknown_one_is_empty() {
        assertTrue(users.find("99999").isEmpty());
    }

    @Test
    void a_broken_service_is_told() {
        assertThrows(HttpServerErrorException.class, () -> users.find("broken"));
    }
}
