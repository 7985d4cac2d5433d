// What the system's words for a failed connection say of TLS.

/** The peer's certificate is not believed, or is somebody else's. */
const UNBELIEVED =
  /^(?:CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_|HOSTNAME_|ERROR_IN_CERT_|ERR_TLS_CERT_ALTNAME_)/;
/** The peer does not speak TLS, or not as we do. */
const UNSPOKEN = /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$)/;

/** Whether a connection failed because of the certificate that the peer showed. */
export function isUnbelieved(code: string): boolean {
  return UNBELIEVED.test(code);
}

/** Whether a connection failed in TLS, which does not get better by trying again. */
export function isTlsFailure(code: string): boolean {
  return UNBELIEVED.test(code) || UNSPOKEN.test(code);
}
