package dev.space.web;

import org.springframework.boot.context.properties.ConfigurationProperties;

/** Where the database is, from DB_HOST, DB_PORT and so on; {@code password} may be empty. */
@ConfigurationProperties("db")
record Database(String host, int port, String name, String user, String password) {
}
