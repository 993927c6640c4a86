import { useEffect, useRef } from 'preact/hooks'
import type { ComponentType } from 'preact'
import { follow, refusal, silentSince, status } from './state/live.ts'
import { pageName } from './state/route.ts'
import { token } from './state/session.ts'
import { formatClock } from './state/format.ts'
import { recording } from './recording/recording.ts'
import { PageBoundary } from './parts/page-boundary.tsx'
import { Sidebar } from './parts/sidebar.tsx'
import { SignIn } from './parts/sign-in.tsx'
import { Toasts } from './parts/toasts.tsx'
import { TopBar } from './parts/top-bar.tsx'
import { ApiPage } from './pages/api/api-page.tsx'
import { LatencyPage } from './pages/latency/latency-page.tsx'
import { LogsPage } from './pages/logs/logs-page.tsx'
import { ProfilePage } from './pages/profile/profile-page.tsx'
import { ReportsPage } from './pages/reports/reports-page.tsx'
import { RuntimePage } from './pages/runtime/runtime-page.tsx'
import { ServicesPage } from './pages/services/services-page.tsx'
import { TopologyPage } from './pages/topology/topology-page.tsx'
import { TracesPage } from './pages/traces/traces-page.tsx'

const pages: Readonly<Record<string, ComponentType>> = {
  '': TopologyPage,
  services: ServicesPage,
  latency: LatencyPage,
  runtime: RuntimePage,
  traces: TracesPage,
  logs: LogsPage,
  api: ApiPage,
  profile: ProfilePage,
  reports: ReportsPage,
}

export function App() {
  return token.value === null && recording === undefined ? <SignIn /> : <Shell key={token.value} />
}

function Shell() {
  useEffect(() => {
    if (recording !== undefined) return undefined
    const stop = new AbortController()
    void follow(stop.signal)
    return () => stop.abort()
  }, [])
  const main = useRef<HTMLElement>(null)
  const Page = Object.hasOwn(pages, pageName.value) ? pages[pageName.value]! : TopologyPage
  // The fragment of the address names the page that is shown.
  const skip = (event: Event): void => {
    event.preventDefault()
    main.current?.focus()
  }
  const focused = useRef<Element>(undefined)
  // What had the focus may be gone, with its page or by what it did.
  useEffect(() => {
    const content = main.current!
    const observer = new MutationObserver(() => {
      if (focused.current?.isConnected === false && document.activeElement === document.body) content.focus()
    })
    observer.observe(content, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [])
  const name = status.value?.app.name
  useEffect(() => void (document.title = name === undefined ? 'Busbar' : `${name} · Busbar`), [name])
  return (
    <div class={silentSince.value === null ? 'shell' : 'shell silent'}>
      <a class="skip" href="#content" onClick={skip}>
        Skip to the content
      </a>
      <Sidebar />
      <TopBar />
      <main
        ref={main}
        id="content"
        tabIndex={0}
        aria-label="Content"
        onFocusIn={({ target }) => (focused.current = target as Element)}
      >
        {silentSince.value !== null && (
          <p class="lost" role="status">
            {refusal.value === null
              ? `The app does not answer: nothing has come from it since ${formatClock(silentSince.value)}. `
              : `The app does not let this page follow it: ${refusal.value.replace(/\.$/, '')}. `}
            {status.value !== null && 'What is shown is its last state. '}
            The page connects again by itself.
          </p>
        )}
        {recording !== undefined && (
          <p class="recorded" role="status">
            Saved on {new Date(recording.savedAt).toLocaleString('en-GB')}
            {recording.moments[0] !== undefined && `, with what happened since ${formatClock(recording.moments[0].at)}`}
            . Nothing here changes any more.
          </p>
        )}
        {status.value === null ? (
          <p class="dim">Connecting…</p>
        ) : (
          <PageBoundary key={pageName.value}>
            <Page />
          </PageBoundary>
        )}
      </main>
      <Toasts />
    </div>
  )
}
