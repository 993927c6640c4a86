import * as z from 'zod'
import { optionalDuration, integer } from './fields.ts'

export const otlp = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        title: 'a URL',
        description:
          'Where a collector accepts OTLP; over HTTP, `/v1/traces` and `/v1/metrics` are added. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`, else `http://localhost:4318`, with gRPC port 4317.',
      }),
    protocol: z.enum(['http/protobuf', 'grpc']).prefault('http/protobuf').meta({
      title: '"http/protobuf" or "grpc"',
      description: 'How it is sent. gRPC needs other [packages](../guides/observe/seeing.md#export-by-otlp).',
    }),
    headers: z
      .record(
        z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/),
        z
          .string()
          .regex(/^[ -~]*$/)
          .meta({ title: 'a text of printable ASCII characters, without a line break', writeOnly: true }),
      )
      .optional()
      .meta({
        title: 'an object of texts',
        description: 'Header fields of every request, such as a token. Their values are hidden in the log.',
      }),
    metrics: z.boolean().prefault(true).meta({ title: 'true or false', description: 'Whether metrics are exported.' }),
    traces: z.boolean().prefault(true).meta({
      title: 'true or false',
      description: 'Whether the spans of recorded [traces](../guides/observe/traces.md) are exported.',
    }),
    interval: optionalDuration(
      100,
      'Time between two exports of the metrics. Default: `OTEL_METRIC_EXPORT_INTERVAL`, else 60 s.',
    ),
  })
  .optional()
  .meta({
    title: 'an object of url, protocol, headers, metrics, traces and interval',
    description: 'Exports [metrics and traces](../guides/observe/seeing.md#export-by-otlp) by OTLP. Default: none.',
  })

export const traces = z
  .strictObject({
    sample: z.number().min(0).max(1).meta({
      title: 'a number from 0 to 1',
      description:
        'The share of the traces that begin in the app which are recorded: 0.01 is 1 %. Failed calls are recorded always.',
    }),
    keep: integer(1, 10_000).prefault(200).meta({
      title: 'an integer from 1 to 10000',
      description: 'How many recent traces the supervisor keeps in memory.',
    }),
    slow: optionalDuration(
      1,
      'Calls that take longer are recorded, whether their trace is sampled or not. Default: none.',
    ),
  })
  .optional()
  .meta({
    title: 'an object of sample, keep and slow',
    description: 'Records [traces](../guides/observe/traces.md). Default: none.',
  })
