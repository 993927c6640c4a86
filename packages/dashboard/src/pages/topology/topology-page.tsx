import { useState } from 'preact/hooks'
import { Card, Empty } from '../../parts/card.tsx'
import { status } from '../../state/live.ts'
import { EdgesTable } from './edges-table.tsx'
import { flowsOf, nodesOf, recentSeconds } from './flows.ts'
import { TopologyGraph } from './topology-graph.tsx'

export function TopologyPage() {
  const [selected, select] = useState<string>()
  const current = status.value!
  const nodes = nodesOf(current)
  const flows = flowsOf(current)
  const flow = flows.find(({ id }) => id === selected)
  const node = nodes.find(({ id }) => id === selected)
  const shown =
    flow !== undefined
      ? flow.edges
      : node !== undefined
        ? current.edges.filter(({ caller, callee }) => caller === node.id || callee === node.id)
        : current.edges
  const title = flow !== undefined ? `${flow.caller || 'clients'} → ${flow.callee}` : node?.label
  return (
    <div class="page">
      <header>
        <h1>Topology</h1>
        <p class="lead">
          Who calls whom. On the lines: calls per second, then p50 and p99 of the last {recentSeconds} seconds. Choose a
          service or a line to see its calls.
        </p>
      </header>
      <section class="card" aria-label="Graph">
        <TopologyGraph
          nodes={nodes}
          flows={flows}
          selected={selected}
          select={(id) => select(id === selected ? undefined : id)}
        />
      </section>
      <Card
        title={title === undefined ? 'Calls' : `Calls: ${title}`}
        label="Calls"
        flush
        end={
          title !== undefined && (
            <button class="compact" onClick={() => select(undefined)}>
              Show all
            </button>
          )
        }
      >
        {shown.length === 0 ? (
          <Empty title="No calls yet">Send the app a request: its way through the services appears here.</Empty>
        ) : (
          <EdgesTable edges={shown} />
        )}
      </Card>
    </div>
  )
}
