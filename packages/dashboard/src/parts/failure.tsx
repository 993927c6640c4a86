import { errorText } from '../state/toasts.ts'
import { Empty } from './card.tsx'
import type { Resource } from './resource.ts'

/** Says why something is not there, or not as it is now. */
export function Failure({ of, title }: { readonly of: Resource<unknown>; readonly title: string }) {
  if (of.state !== 'failed') return null
  return (
    <section class="card" role="alert">
      <Empty title={title}>
        {errorText(of.error).replace(/\.$/, '')}.{of.isFinal ? '' : ' The page tries again by itself.'}
      </Empty>
    </section>
  )
}
