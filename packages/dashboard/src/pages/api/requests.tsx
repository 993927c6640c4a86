import { useState } from 'preact/hooks'
import { ApiError, post, serviceAt } from '../../api/client.ts'
import type { Description } from '../../api/types.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { formatTime } from '../../state/format.ts'
import { errorText } from '../../state/toasts.ts'

/** What `busbar inject` and `busbar call` answer. */
interface Injected {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string
  readonly encoding: 'utf8' | 'base64'
}

interface Outcome {
  readonly tone: Tone
  readonly title: string
  readonly took: number
  readonly headers: readonly string[]
  readonly body: string
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** Sends a request to a service, or calls a method, as `busbar inject` and `busbar call` do. */
export function Requests({ description: { services } }: { readonly description: Description }) {
  const [service, choose] = useState(services[0]?.name ?? '')
  const [kind, setKind] = useState<'request' | 'method'>('request')
  const [outcome, setOutcome] = useState<Outcome>()
  const [busy, setBusy] = useState(false)
  const isTyped = services.find(({ name }) => name === service)?.kind === 'typed'
  const asMethod = kind === 'method' && isTyped
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string): string => (form.get(name) as string | null) ?? ''
    const began = performance.now()
    setBusy(true)
    setOutcome(undefined)
    const sent = asMethod
      ? call(service, text('name'), text('body'))
      : inject(service, text('verb'), text('path'), text('body'))
    void sent
      .catch((error: unknown): Omit<Outcome, 'took'> => ({
        tone: 'bad',
        title: 'failed',
        headers: [],
        body: failureText(error),
      }))
      .then((result) => setOutcome({ ...result, took: performance.now() - began }))
      .finally(() => setBusy(false))
  }
  return (
    <Card title="Try a service" end={<span class="dim small">with or without a route, as other services call it</span>}>
      <form class="try" onSubmit={submit}>
        <div class="row bottom">
          <label class="field">
            Service
            <select value={service} onChange={({ currentTarget }) => choose(currentTarget.value)}>
              {services.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          {isTyped && (
            <label class="field">
              What
              <select
                value={kind}
                onChange={({ currentTarget }) => setKind(currentTarget.value as 'request' | 'method')}
              >
                <option value="request">HTTP request</option>
                <option value="method">method</option>
              </select>
            </label>
          )}
          {asMethod ? (
            <label class="field grow">
              Method
              <input name="name" required placeholder="search" class="mono" />
            </label>
          ) : (
            <>
              <label class="field">
                Verb
                <select name="verb">
                  {methods.map((method) => (
                    <option key={method}>{method}</option>
                  ))}
                </select>
              </label>
              <label class="field grow">
                Path
                <input name="path" required defaultValue="/" class="mono" pattern="/.*" />
              </label>
            </>
          )}
          <ActionButton kind="primary" type="submit" off={busy || service === ''}>
            Send
          </ActionButton>
        </div>
        <label class="field">
          {asMethod ? 'Input, as JSON' : 'Body, as JSON, if it has one'}
          <textarea name="body" spellcheck={false} />
        </label>
      </form>
      {outcome !== undefined && <Answer outcome={outcome} />}
    </Card>
  )
}

function Answer({ outcome: { tone, title, took, headers, body } }: { readonly outcome: Outcome }) {
  return (
    <div class="answer" role="status">
      <p class="row">
        <Badge tone={tone}>{title}</Badge> <span class="dim">{formatTime(took)}</span>
      </p>
      {headers.length > 0 && (
        <details>
          <summary class="small">headers</summary>
          <pre tabIndex={0}>{headers.join('\n')}</pre>
        </details>
      )}
      {body !== '' && <pre tabIndex={0}>{body}</pre>}
    </div>
  )
}

async function inject(service: string, method: string, path: string, body: string): Promise<Omit<Outcome, 'took'>> {
  const sent = body.trim() === '' ? {} : { body, headers: { 'content-type': 'application/json' } }
  const answer = await post<Injected>(serviceAt(service, 'inject'), { method, path, ...sent })
  const { status, statusText, headers, encoding } = answer
  return {
    tone: status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good',
    title: `${status} ${statusText}`,
    headers: Object.entries(headers).map(([name, value]) => `${name}: ${[value].flat().join(', ')}`),
    body:
      encoding === 'utf8'
        ? pretty(answer.body)
        : `${answer.body.length} characters of base64:\n${answer.body.slice(0, 2000)}`,
  }
}

async function call(service: string, method: string, input: string): Promise<Omit<Outcome, 'took'>> {
  const given = input.trim() === '' ? {} : { input: JSON.parse(input) as unknown }
  const answer = await post<{ kind: string; result?: unknown; values?: unknown }>(serviceAt(service, 'call'), {
    method,
    ...given,
  })
  return {
    tone: 'good',
    title: 'answered',
    headers: [],
    body: JSON.stringify(answer.result ?? answer.values ?? null, undefined, 2),
  }
}

function failureText(error: unknown): string {
  const data = error instanceof ApiError ? error.data : undefined
  return data === undefined ? errorText(error) : `${errorText(error)}\n\n${JSON.stringify(data, undefined, 2)}`
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}
