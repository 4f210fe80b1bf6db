import { counter, type Metrics } from '../../base/telemetry/telemetry.ts'

/** Counts calls of tools: the status of their answers is 200 even if they fail. */
export function toolMeter(metrics: Metrics): (tool: string, result: string) => void {
  const calls = counter(metrics, {
    name: 'mcp_tool_calls_total',
    help: 'Calls of tools by coding agents, by tool and result: ok, or the reason of the error.',
    labels: ['tool', 'result'],
  })
  return (tool, result) => calls.inc({ tool, result })
}
