import type { ComponentChildren } from 'preact'
import type { Worker } from '../api/types.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'none'

export function Badge({ tone = 'none', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      {tone !== 'none' && tone !== 'info' && <span class="dot" />}
      {children}
    </span>
  )
}

export const toneOfState: Readonly<Record<Worker['state'], Tone>> = {
  serving: 'good',
  starting: 'warn',
  draining: 'warn',
  waiting: 'warn',
  blocked: 'bad',
  givenUp: 'bad',
  stopped: 'none',
}

export function StateBadge({ state }: { readonly state: Worker['state'] }) {
  return <Badge tone={toneOfState[state]}>{state === 'givenUp' ? 'given up' : state}</Badge>
}
