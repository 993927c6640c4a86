/** Accounts of NATS, as `nsc` makes them: tokens that are signed by keys of an operator. */
import { createAccount, createOperator, createUser, type KeyPair } from '@nats-io/nkeys'

export interface NatsAccount {
  /** Lines of a server's config, which knows the account. */
  readonly settings: string
  /** A file for a user of the account. `until`: seconds since 1970. */
  credentials(until?: number): string
}

export function makeAccount(): NatsAccount {
  const [operator, account] = [createOperator(), createAccount()]
  const token = sign(operator, operator, 'operator', { type: 'operator', version: 2 })
  const limits = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
  const ofAccount = sign(account, operator, 'shop', { type: 'account', version: 2, limits })
  return {
    settings: `operator: "${token}"\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: "${ofAccount}" }`,
    credentials: (until) => {
      const user = createUser()
      const permissions = { pub: {}, sub: {}, subs: -1, data: -1, payload: -1 }
      const ofUser = sign(user, account, 'app', { type: 'user', version: 2, ...permissions }, until)
      const seed = Buffer.from(user.getSeed()).toString()
      return `${block('USER JWT', ofUser)}\n${block('USER NKEY SEED', seed)}`
    },
  }
}

function block(what: string, content: string): string {
  return `-----BEGIN NATS ${what}-----\n${content}\n------END NATS ${what}------\n`
}

function sign(subject: KeyPair, issuer: KeyPair, name: string, nats: object, exp?: number): string {
  const claims = { jti: name, iat: Math.floor(Date.now() / 1_000), iss: issuer.getPublicKey(), name, nats, exp }
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode({ ...claims, sub: subject.getPublicKey() })}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}
