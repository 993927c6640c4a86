import { generate } from 'selfsigned'

export interface Issued {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** Signs certificates for tests. Clients and servers trust `cert`. */
export class Authority implements Issued {
  readonly cert: string
  readonly key: string

  private constructor({ cert, key }: Issued) {
    this.cert = cert
    this.key = key
  }

  static async create(name: string): Promise<Authority> {
    const made = await generate([{ name: 'commonName', value: name }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
      ],
    })
    return new Authority({ cert: made.cert, key: made.private })
  }

  /** For servers with these names. The first is its common name, too. */
  async forServer(...names: string[]): Promise<Issued> {
    return await this.#issue(names[0]!, [
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) },
    ])
  }

  async forClient(name: string): Promise<Issued> {
    return await this.#issue(name, [
      { name: 'extKeyUsage', clientAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
    ])
  }

  async #issue(
    name: string,
    extensions: NonNullable<Parameters<typeof generate>[1]>['extensions'] & {},
  ): Promise<Issued> {
    const made = await generate([{ name: 'commonName', value: name }], {
      keyType: 'ec',
      algorithm: 'sha256',
      ca: { key: this.key, cert: this.cert },
      extensions: [
        { name: 'basicConstraints', cA: false },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        ...extensions,
      ],
    })
    return { cert: made.cert, key: made.private }
  }
}
