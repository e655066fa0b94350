package dev.space.dao;

/** The database, or the way to it, failed. */
public final class DaoException extends RuntimeException {

    private static final long serialVersionUID = 1;

    DaoException(Throwable cause) {
        super(cause.getMessage(), cause);
    }
}
