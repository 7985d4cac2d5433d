// What the names of methods and of header fields are made of (RFC 9110 5.6.2).

/** Of a token, for its place in a larger pattern. */
export const TOKEN_PATTERN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";

export const TOKEN: RegExp = new RegExp(`^${TOKEN_PATTERN}$`);
