import type { ConnectionOptions } from 'node:tls'

/**
 * Trust in a server that has this very certificate (PEM), whoever signed it and whatever name it is for: what is measured
 * runs on this machine. As the load engine does it (`crates/load/src/trust.rs`), but for one that has expired.
 */
export function trusting(certificate: string): ConnectionOptions {
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
}
