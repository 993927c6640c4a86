/** The dashboard of one run: `busbar start --open`. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../../observe/log.ts'
import { temporaryPrefix } from '../../shared/process/temporary-folders.ts'
import type { PagePort, RunningApp } from '../../supervisor/running-app.ts'
import { paint, print, type Terminal } from '../terminal/terminal.ts'
import { openInBrowser } from './open-browser.ts'

/**
 * The page of a process that has crashed, for the next one, which deletes it: what is open in a
 * browser goes on.
 */
const pageVariable = 'BUSBAR_PAGE'

/** Where the page is, as the process that runs the app reports it. */
export interface PageAddress extends PagePort {
  readonly url: string
  /** Leads a browser to the page with its token. Only this user can read it. */
  readonly file: string
}

/** For the environment of the next process. */
export function passPage(page: PageAddress | undefined): NodeJS.ProcessEnv {
  return page === undefined ? {} : { [pageVariable]: `${page.port} ${page.token}` }
}

/** Keeps its port and its token while the app restarts. */
export class RunPage {
  readonly #token: string
  /** Somebody has opened it already. */
  #isKnown: boolean
  #port: number
  #folder: string | undefined

  /** Reads and deletes what {@link passPage} has set. */
  constructor(env: NodeJS.ProcessEnv) {
    const [port, token] = env[pageVariable]?.split(' ') ?? []
    delete env[pageVariable]
    this.#isKnown = token !== undefined
    this.#token = token ?? randomBytes(24).toString('base64url')
    this.#port = Number(port ?? 0)
  }

  get port(): PagePort {
    return { port: this.#port, token: this.#token }
  }

  /** To be called when the app serves. */
  opened({ pageUrl }: Pick<RunningApp, 'pageUrl'>): PageAddress {
    const url = pageUrl!
    this.#port = Number(new URL(url).port)
    this.#folder ??= mkdtempSync(join(tmpdir(), temporaryPrefix('file')))
    const file = join(this.#folder, 'dashboard.html')
    writeFileSync(file, leadTo(addressOf(url, this.#token)), { mode: 0o600 })
    return { url, token: this.#token, port: this.#port, file }
  }

  /**
   * Opens the browser the first time. The address with the token goes to a terminal only: a log has
   * other readers.
   */
  announce(page: PageAddress, terminal: Terminal, log: Log): void {
    if (this.#isKnown) return
    this.#isKnown = true
    if (terminal.out.isTerminal) return showPage(page, terminal)
    log.event('info', `the dashboard is open at ${page.url}; open ${page.file} to sign in`, { dashboard: page.file })
  }

  close(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Opens the browser where there is one, and prints the address. Without a terminal: the file. */
export function showPage({ url, token, file }: PageAddress, { out, env }: Terminal): void {
  if (!out.isTerminal) return print(out, `  ${file}  dashboard`)
  openInBrowser(file, env)
  print(out, `\n  ${paint(out, ['bold', 'green'], addressOf(url, token))}  ${paint(out, 'dim', 'dashboard')}\n`)
}

/** The fragment is not part of a request: no server, proxy or log gets it. */
function addressOf(url: string, token: string): string {
  return `${url}/#token=${token}`
}

function leadTo(address: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<title>Busbar</title>
<a href="${address}">Open the dashboard</a>
`
}
