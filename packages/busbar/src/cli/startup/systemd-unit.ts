/** Units for systemd, as `busbar startup systemd` installs them. */

export interface ServiceUnit {
  readonly description: string
  /** The command line of the app, unquoted. */
  readonly command: readonly string[]
  /** The command line of `systemctl reload`. */
  readonly reload: readonly string[]
  readonly folder: string
  /**
   * The unit of the app's sockets, which systemd opens. Undefined: the app opens its ports itself.
   */
  readonly socket?: string | undefined
  /** Milliseconds that the app may take to stop. */
  readonly stopTimeout: number
  /** `user`: for the manager of one user; `system`: for the machine, as this user. */
  readonly target: { readonly kind: 'user' } | { readonly kind: 'system'; readonly user: string }
}

/** Seconds that the processes may take to end, in addition to the app's `stopTimeout`. */
const extraStop = 7

/**
 * The unit of one app in the foreground: systemd supervises it and keeps its log. The app reports
 * when it serves (sd_notify).
 */
export function appUnit(unit: ServiceUnit): string {
  const { description, command, reload, folder, socket, stopTimeout, target } = unit
  return unitText({
    Unit: [
      ['Description', escape(description)],
      ['After', 'network-online.target'],
      ['Wants', 'network-online.target'],
      ...(socket === undefined ? [] : [['Requires', socket] as const]),
    ],
    Service: [
      ['Type', 'notify'],
      // `systemd-notify` is a process of its own.
      ['NotifyAccess', 'all'],
      ['WorkingDirectory', escape(folder)],
      ['ExecStart', command.map(quote).join(' ')],
      ['ExecReload', reload.map(quote).join(' ')],
      // Only a config that is refused is not worth another try.
      ['Restart', 'on-failure'],
      ['RestartSec', '1'],
      ['RestartPreventExitStatus', '2 3'],
      // The supervisor stops its services in order. What is left then is killed.
      ['KillMode', 'mixed'],
      ['TimeoutStartSec', 'infinity'],
      ['TimeoutStopSec', `${Math.ceil(stopTimeout / 1000) + extraStop}`],
      ['LimitNOFILE', '1048576'],
      ['NoNewPrivileges', 'yes'],
      ['Environment', 'NODE_ENV=production'],
      ...ownerLines(target),
    ],
    Install: [['WantedBy', wantedBy(target)]],
  })
}

/**
 * The unit of the sockets that systemd opens for an app, and keeps open while the app restarts.
 * `addresses`: in the order of the app's ports, which is how the app knows them.
 */
export function socketUnit(description: string, addresses: readonly string[]): string {
  return unitText({
    Unit: [['Description', escape(description)]],
    Socket: [...addresses.map((address) => ['ListenStream', address] as const), ['NoDelay', 'yes']],
    Install: [['WantedBy', 'sockets.target']],
  })
}

/** The unit that starts the apps of `busbar save`, each in the background. */
export function savedAppsUnit({
  command,
  target,
}: {
  /** Of `busbar`, without arguments. */
  readonly command: readonly string[]
  readonly target: ServiceUnit['target']
}): string {
  return unitText({
    Unit: [
      ['Description', 'Apps of busbar save'],
      ['After', 'network-online.target'],
      ['Wants', 'network-online.target'],
    ],
    Service: [
      ['Type', 'oneshot'],
      ['RemainAfterExit', 'yes'],
      ['ExecStart', [...command, 'resurrect'].map(quote).join(' ')],
      ['ExecStop', [...command, 'stop', '--all'].map(quote).join(' ')],
      // The apps belong to this unit although `resurrect` has ended.
      ['KillMode', 'mixed'],
      ['TimeoutStartSec', 'infinity'],
      ['TimeoutStopSec', 'infinity'],
      ['LimitNOFILE', '1048576'],
      ['Environment', 'NODE_ENV=production'],
      ...ownerLines(target),
    ],
    Install: [['WantedBy', wantedBy(target)]],
  })
}

/** `busbar-shop.service`. Other characters have a meaning in the names of units. */
export function unitName(app: string): string {
  return `busbar-${app.replaceAll(/[^\w.-]/g, '-')}.service`
}

type Lines = readonly (readonly [key: string, value: string])[]

function unitText(sections: Readonly<Record<string, Lines>>): string {
  return Object.entries(sections)
    .map(([name, lines]) => [`[${name}]`, ...lines.map(([key, value]) => `${key}=${value}`), ''].join('\n'))
    .join('\n')
}

/**
 * The user's folder for sockets exists only while the user is logged in, unless systemd is asked
 * for it.
 */
function ownerLines(target: ServiceUnit['target']): Lines {
  return target.kind === 'user' ? [] : [['User', target.user]]
}

function wantedBy({ kind }: ServiceUnit['target']): string {
  return kind === 'user' ? 'default.target' : 'multi-user.target'
}

/** systemd.syntax(7), "Quoting", and the specifiers of systemd.unit(5). */
function quote(word: string): string {
  const escaped = escape(word).replaceAll('$', '$$$$')
  if (/^[\w@%+=:,./-]+$/.test(escaped)) return escaped
  return `"${escaped.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

function escape(text: string): string {
  return text.replaceAll('%', '%%').replaceAll(/[\r\n]+/g, ' ')
}
