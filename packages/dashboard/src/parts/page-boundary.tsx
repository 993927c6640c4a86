import type { ComponentChildren } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { subject } from '../state/route.ts'
import { Empty } from './card.tsx'

/** If a page cannot draw what it has got, such as an incomplete report, the others still can. */
export function PageBoundary({ children }: { readonly children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary() as [unknown, () => void]
  const shown = subject.value
  useEffect(() => reset(), [shown])
  if (error === undefined) return <>{children}</>
  return (
    <section class="card" role="alert">
      <Empty title="This page cannot show what it has got">
        {error instanceof Error ? error.message : 'It has failed.'}
      </Empty>
    </section>
  )
}
