import type { ServiceDescription } from '../../api/types.ts'
import { Fact } from '../../parts/fact.tsx'
import { formatBytes } from '../../state/format.ts'
import { linkTo } from '../../state/route.ts'

/** How the config was resolved. Values that look like secrets are masked by the app. */
export function ServiceDetails({ service }: { readonly service: ServiceDescription }) {
  const { name, path, entry, foundBy, memory, concurrency, env } = service
  const variables = Object.entries(env)
  return (
    <div class="service-details">
      <dl class="facts-row">
        <Fact name="folder" value={path} />
        <Fact name="entry" value={`${entry} (${foundBy})`} />
        <Fact name="calls at once" value={concurrency === null ? 'no limit' : `${concurrency} for each instance`} />
        <Fact name="memory" value={memory === null ? 'no limit' : formatBytes(memory)} />
        {variables.map(([key, value]) => (
          <Fact key={key} name={key} value={value} />
        ))}
      </dl>
      <a href={linkTo('logs', name)}>Its log</a>
    </div>
  )
}
