import { signal } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import { send, serviceAt } from '../../api/client.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Card, Empty } from '../../parts/card.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { formatBytes, formatShare, formatTime } from '../../state/format.ts'
import { status } from '../../state/live.ts'
import { subject } from '../../state/route.ts'
import { reportError } from '../../state/toasts.ts'
import { FlameGraph } from './flame-graph.tsx'
import { ownFramesOf } from './own-frames.ts'
import { type Frame, hottest, type Measured, readProfile } from './read-profile.ts'

/** How the page speaks of a profile. */
const kinds = {
  cpu: {
    option: 'processor',
    action: 'Take a CPU profile',
    format: formatTime,
    most: 'Most time of their own',
    none: { title: 'Nothing ran', text: 'The worker was idle the whole time.' },
  },
  heap: {
    option: 'memory',
    action: 'Take a heap profile',
    format: formatBytes,
    most: 'Most memory of their own',
    none: { title: 'Nothing was allocated', text: 'The worker was idle the whole time.' },
  },
} as const

interface Taken {
  readonly of: string
  readonly measured: Measured
  readonly at: number
  readonly text: string
  readonly root: Frame
}

/** Stays while other pages are shown. */
const taken = signal<Taken>()
const running = signal<string>()

async function take(measured: Measured, service: string, instance: number, seconds: number): Promise<void> {
  running.value = `${service} ${instance}`
  try {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ of: measured, seconds, instance })
    const response = await send(serviceAt(service, 'profile'), { method: 'POST', headers, body })
    const text = await response.text()
    const root = readProfile(text, measured)
    taken.value = { of: `${service} ${instance}`, measured, at: Date.now(), text, root }
  } catch (error) {
    reportError(error)
  } finally {
    running.value = undefined
  }
}

export function ProfilePage() {
  const { instances, workers } = status.value!
  const kindOf = (index: number) => workers.find(({ worker }) => worker === index)?.kind
  const choices = instances.filter(({ worker }) => kindOf(worker) !== 'command')
  const preferred = choices.find(({ service }) => service === subject.value) ?? choices[0]
  const [search, setSearch] = useState('')
  const [measured, measure] = useState<Measured>('cpu')
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const { service, instance } = choices[Number(form.get('instance'))]!
    void take(measured, service, instance, Number(form.get('seconds')))
  }
  const profile = taken.value
  return (
    <div class="page">
      <header>
        <h1>Profile</h1>
        <p class="lead">
          Where a worker uses the processor, or allocates memory. It serves meanwhile; all services in the worker are in
          the profile.
        </p>
      </header>
      <section class="card" aria-label="Take a profile">
        <form class="body row bottom" onSubmit={submit}>
          <label class="field">
            Instance
            <select name="instance">
              {choices.map((one, index) => (
                <option key={`${one.service} ${one.instance}`} value={index} selected={one === preferred}>
                  {one.service} {one.instance} in {workers.find(({ worker }) => worker === one.worker)?.name}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            Of
            <select value={measured} onChange={({ currentTarget }) => measure(currentTarget.value as Measured)}>
              {Object.entries(kinds).map(([kind, { option }]) => (
                <option key={kind} value={kind}>
                  {option}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            Seconds
            <input name="seconds" type="number" min={1} max={300} step={1} defaultValue="5" required />
          </label>
          <ActionButton kind="primary" type="submit" off={running.value !== undefined || choices.length === 0}>
            {running.value === undefined ? kinds[measured].action : `Profiling ${running.value}…`}
          </ActionButton>
        </form>
      </section>
      {profile === undefined ? (
        <section class="card">
          <Empty title={running.value === undefined ? 'No profile yet' : 'The profile is being taken'}>
            The flame graph appears here. A profile without load shows an idle worker.
          </Empty>
        </section>
      ) : (
        <Shown profile={profile} search={search} setSearch={setSearch} />
      )}
    </div>
  )
}

interface ShownProps {
  readonly profile: Taken
  readonly search: string
  readonly setSearch: (text: string) => void
}

function Shown({ profile: { of, measured, at, root: whole, text }, search, setSearch }: ShownProps) {
  const [onlyOwn, setOnlyOwn] = useState(false)
  const root = useMemo(() => (onlyOwn ? ownFramesOf(whole) : whole), [onlyOwn, whole])
  const hot = hottest(root, 15)
  const { format, most, none } = kinds[measured]
  return (
    <>
      <Card
        title={`Flame graph of ${of}`}
        end={
          <>
            <label class="check small">
              <input
                type="checkbox"
                checked={onlyOwn}
                onChange={({ currentTarget }) => setOnlyOwn(currentTarget.checked)}
              />
              only own code
            </label>
            <input
              type="search"
              placeholder="Find a function"
              aria-label="Find a function"
              value={search}
              onInput={({ currentTarget }) => setSearch(currentTarget.value)}
            />
            <button
              class="compact"
              onClick={() => saveFile(text, `${of.replaceAll(' ', '-')}-${at}.${measured}profile`, 'application/json')}
            >
              Save
            </button>
          </>
        }
      >
        {root.total === 0 ? (
          <Empty title={none.title}>{none.text}</Empty>
        ) : (
          <FlameGraph root={root} search={search} format={format} />
        )}
      </Card>
      <Card title={most} flush>
        <table>
          <thead>
            <tr>
              <th>function</th>
              <th>where</th>
              <th class="num">itself</th>
              <th class="num">share</th>
            </tr>
          </thead>
          <tbody>
            {hot.map(({ name, place, self }) => (
              <tr key={`${name} ${place}`}>
                <td class="mono">{name}</td>
                <td class="mono dim">{place}</td>
                <td class="num">{format(self)}</td>
                <td class="num">{formatShare(self / root.total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Card>
    </>
  )
}
