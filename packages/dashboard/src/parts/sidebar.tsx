import { recording } from '../recording/recording.ts'
import { status } from '../state/live.ts'
import { linkTo, pageName } from '../state/route.ts'
import { signOut } from '../state/session.ts'
import { Icon, type IconName } from './icon.tsx'

const entries: readonly { readonly page: string; readonly label: string; readonly icon: IconName }[] = [
  { page: '', label: 'Topology', icon: 'topology' },
  { page: 'services', label: 'Services', icon: 'services' },
  { page: 'latency', label: 'Latency', icon: 'latency' },
  { page: 'runtime', label: 'Runtime', icon: 'runtime' },
  { page: 'traces', label: 'Traces', icon: 'traces' },
  { page: 'logs', label: 'Logs', icon: 'logs' },
  { page: 'profile', label: 'Profile', icon: 'profile' },
  { page: 'api', label: 'API', icon: 'api' },
  { page: 'reports', label: 'Reports', icon: 'reports' },
]

/** What a saved page has. */
const recordedPages: ReadonlySet<string> = new Set(['', 'services', 'latency', 'runtime', 'traces', 'logs'])
const shown = recording === undefined ? entries : entries.filter(({ page }) => recordedPages.has(page))

export function Sidebar() {
  const current = pageName.value
  const app = status.value?.app
  return (
    <aside class="sidebar" aria-label="Busbar">
      <a class="brand" href={linkTo('')} aria-label="Busbar">
        <Icon name="brand" size={22} />
        <span class="label">Busbar</span>
      </a>
      <nav aria-label="Pages">
        {shown.map(({ page, label, icon }) => (
          <a key={page} href={linkTo(page)} aria-current={page === current ? 'page' : undefined} title={label}>
            <Icon name={icon} />
            <span class="label">{label}</span>
          </a>
        ))}
      </nav>
      <footer>
        {app !== undefined && <div>process {app.pid}</div>}
        {recording === undefined && (
          <button class="link small" title="Sign out" onClick={signOut}>
            <Icon name="out" />
            <span class="label">Sign out</span>
          </button>
        )}
      </footer>
    </aside>
  )
}
