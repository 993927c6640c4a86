import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ActionButton } from '../../parts/action-button.tsx'
import { Empty } from '../../parts/card.tsx'
import { Line } from '../../parts/line.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { formatNumber } from '../../state/format.ts'
import { status } from '../../state/live.ts'
import { levels, lines, type LogLine } from '../../state/log-lines.ts'
import { goTo, subject } from '../../state/route.ts'

/** Lines that are drawn at once. */
const most = 500

export function LogsPage() {
  const [level, setLevel] = useState(0)
  const [search, setSearch] = useState('')
  // While it stands still, the lines as they were.
  const [frozen, freeze] = useState<readonly LogLine[]>()
  const service = subject.value
  const all = frozen ?? lines.value
  const shown = useMemo(
    () =>
      all.filter(
        (line) =>
          (level === 0 || line.level >= level) &&
          (service === '' || line.service === service) &&
          (search === '' || line.text.toLowerCase().includes(search.toLowerCase())),
      ),
    [all, level, search, service],
  )
  const services = [
    ...new Set([
      ...(status.value?.services ?? []).map((one) => one.service),
      ...all.flatMap((line) => line.service ?? []),
    ]),
  ]
  return (
    <div class="page tall">
      <header>
        <h1>Logs</h1>
      </header>
      <section class="card logs" aria-label="Log">
        <header class="row bottom">
          <label class="field">
            Service
            <select value={service} onChange={({ currentTarget }) => goTo('logs', currentTarget.value || undefined)}>
              <option value="">all</option>
              {services.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label class="field">
            Level
            <select value={level} onChange={({ currentTarget }) => setLevel(Number(currentTarget.value))}>
              <option value={0}>all</option>
              {levels.map(({ level, name }) => (
                <option key={name} value={level}>
                  {name} and above
                </option>
              ))}
            </select>
          </label>
          <label class="field grow">
            Contains
            <input type="search" value={search} onInput={({ currentTarget }) => setSearch(currentTarget.value)} />
          </label>
          <button
            aria-pressed={frozen !== undefined}
            onClick={() => freeze(frozen === undefined ? lines.value : undefined)}
          >
            {frozen === undefined ? 'Pause' : 'Continue'}
          </button>
          <ActionButton off={shown.length === 0} onClick={() => save(shown)}>
            Save
          </ActionButton>
          <span class="dim small" role="status">
            {formatNumber(shown.length)} of {formatNumber(all.length)} lines
          </span>
        </header>
        {shown.length === 0 ? (
          <Empty title={all.length === 0 ? 'No lines yet' : 'No line matches'}>
            {all.length === 0
              ? 'What the services print appears here.'
              : 'Choose another service or level, or search for something else.'}
          </Empty>
        ) : (
          <Lines lines={shown.slice(-most)} isFrozen={frozen !== undefined} />
        )}
      </section>
    </div>
  )
}

/** All lines that match, also those that are not drawn, as `busbar logs --json` writes them. */
function save(shown: readonly LogLine[]): void {
  const text = shown.map(({ json }) => `${json}\n`).join('')
  saveFile(text, `${status.value?.app.name ?? 'app'}-${Date.now()}.log`, 'application/x-ndjson')
}

/** Stays at the end while it is there. */
function Lines({ lines: shown, isFrozen }: { readonly lines: readonly LogLine[]; readonly isFrozen: boolean }) {
  const list = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = list.current!
    if (isAtEnd.current && !isFrozen) element.scrollTop = element.scrollHeight
  })
  return (
    <div
      class="lines"
      ref={list}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Lines"
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 24
      }}
    >
      {shown.map((line) => (
        <Line key={line.id} line={line} />
      ))}
    </div>
  )
}
