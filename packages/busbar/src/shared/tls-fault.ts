/** What the config calls the files of a TLS connection. */
export interface TlsNames {
  /** The CAs that this app trusts. */
  readonly ca: string
  /** The certificate that this app shows. */
  readonly cert: string
}

/** `reason`: of errors of OpenSSL, whose messages have the address of a thread and a line of C. */
type TlsError = NodeJS.ErrnoException & { readonly reason?: string }

/** What Node says if a certificate leads to no CA that is trusted. */
const untrusted = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/**
 * What is wrong with a TLS connection, in words of the config. Undefined: the error is not of TLS,
 * or its message is clear.
 */
export function tlsFault(error: unknown, { ca, cert }: TlsNames): string | undefined {
  const { code = '', message, reason = reasonIn(message) } = ofTls(error)
  // The rest of the message is advice for those who start Node.
  const [said] = message.split('; ')
  if (untrusted.has(code))
    return `its certificate is not of a CA that this app trusts (${ca}), or it does not send an intermediate one: ${said}`
  if (reason === undefined) return undefined
  if (/mismatch/.test(reason)) return `the key of this app does not belong to its certificate (${cert}): ${reason}`
  if (/alert .*(certificate|unknown ca|access denied)/.test(reason))
    return `it refuses this app's certificate, or needs one (${cert}): ${reason}`
  // Of this side's OpenSSL when it reads the files, before there is a connection.
  if (code.startsWith('ERR_OSSL_'))
    return `a file of this app is damaged or incomplete (${cert}, its key, or ${ca}): ${reason} (${code})`
  return `the TLS handshake failed: ${reason}${code === '' ? '' : ` (${code})`}`
}

/** A client wraps the error of its socket. */
function ofTls(error: unknown): TlsError {
  const { cause } = error as { readonly cause?: TlsError }
  return cause?.code === undefined ? (error as TlsError) : cause
}

/** `error:<number>:<library>:<function>:<reason>`, before that a thread, after that a line of C. */
function reasonIn(message: string): string | undefined {
  return /\berror:[0-9A-F]+:[^:]*:[^:]*:([^:\n]+)/i.exec(message)?.[1]
}
