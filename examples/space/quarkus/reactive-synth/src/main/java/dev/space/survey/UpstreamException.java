package dev.space.survey;

/** The upstream gave no answer, or none that can be used. */
public final class UpstreamException extends RuntimeException {

    private static final long serialVersionUID = 1;

    UpstreamException(String message, Throwable cause) {
        super(message, cause);
    }
}
