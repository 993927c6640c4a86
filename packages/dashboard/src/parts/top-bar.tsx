import { formatBytes, formatClock, formatDuration, formatRate, formatShare, formatTime } from '../state/format.ts'
import { edgeKey, recentOf } from '../state/history.ts'
import { quantile } from '../state/latency.ts'
import { refusal, seenAt, silentSince, status } from '../state/live.ts'
import { recording } from '../recording/recording.ts'
import { theme, toggleTheme } from '../state/theme.ts'
import { Badge, type Tone } from './badge.tsx'
import { Icon } from './icon.tsx'
import { SaveButton } from './save-button.tsx'

export function TopBar() {
  const { app } = status.value ?? {}
  return (
    <header class="topbar">
      <span class="name" title={app?.name}>
        {app?.name ?? 'Busbar'}
      </span>
      <State />
      {app !== undefined && <Facts />}
      {recording === undefined && app !== undefined && <SaveButton />}
      <button
        class={`icon plain ${recording === undefined ? '' : 'first-tool'}`}
        onClick={toggleTheme}
        aria-label={theme.value === 'dark' ? 'Use the light theme' : 'Use the dark theme'}
      >
        <Icon name={theme.value === 'dark' ? 'sun' : 'moon'} />
      </button>
    </header>
  )
}

function State() {
  const { app } = status.value ?? {}
  if (refusal.value !== null) return <Badge>not followed</Badge>
  if (silentSince.value !== null) return <Badge>no answer since {formatClock(silentSince.value)}</Badge>
  if (recording !== undefined) return <Badge tone="info">saved</Badge>
  if (app === undefined) return <Badge>connecting</Badge>
  const [tone, text]: [Tone, string] = app.ready
    ? ['good', 'ready']
    : app.phase === 'running'
      ? ['bad', `not ready: ${app.unready.join(', ')}`]
      : ['warn', app.phase]
  return <Badge tone={tone}>{text}</Badge>
}

/** Of the calls from outside, in the last ten seconds. */
function Facts() {
  const { app, edges, workers } = status.value!
  const outside = edges.filter(({ caller }) => caller === '').map(edgeKey)
  const { perSecond, calls, failures, counts } = recentOf(outside, 10)
  const cpu = workers.reduce((sum, one) => sum + (one.cpu ?? 0), 0)
  const facts: [string, string][] = [
    ['requests', formatRate(perSecond)],
    ['p99', formatTime(quantile(counts, 0.99))],
    ['errors', calls === 0 ? '–' : formatShare(failures / calls)],
    ['processors', cpu.toFixed(2)],
    ['memory', formatBytes(app.memory)],
    ['up', formatDuration(seenAt.value - app.startedAt)],
  ]
  return (
    <dl class="facts" title="requests, p99 and errors: from outside, in the last ten seconds">
      {facts.map(([name, value]) => (
        <div class="fact" key={name} data-fact={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
