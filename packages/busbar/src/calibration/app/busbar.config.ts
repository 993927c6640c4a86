import type { AppConfig } from '../../config/schema/app-schema.ts'

/**
 * A service that calls two others, one over HTTP and one typed. `startApp` chooses where they run.
 */
const app: AppConfig = {
  workers: 1,
  gateway: { host: '127.0.0.1', port: 0, entry: 'caller', entrance: 'portable' },
  services: {
    caller: { path: './caller', needs: ['program', 'typed'] },
    program: './program',
    typed: './typed',
  },
}

export default app
