/**
 * Says that this program is ready for requests. Call it if the config has `ready: 'signal'` for the
 * service: Busbar then waits for it. The program may run elsewhere, too: PM2 understands the same
 * signal (`wait_ready`), and under plain `node` nothing happens.
 */
export function ready(): void {
  process.send?.('ready')
}
