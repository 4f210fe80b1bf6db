import { setTimeout as sleep } from 'node:timers/promises'
import { type ExplainCommandOptions, OptionsError } from '../../pkg/base/options/options.ts'
import { folderProblem } from '../../pkg/base/run/run.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { ExpressionError } from '../../pkg/expr/expr.ts'
import { watchManifests } from '../../pkg/records/folder/folder.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { GroupBindings } from '../../pkg/registry/access/access.ts'

const timeoutMs = 30_000

/**
 * Explains how each GroupBinding evaluates a caller's groups, and which one decides.
 *
 * @throws OptionsError if the bindings cannot be read
 */
export async function explain(options: ExplainCommandOptions): Promise<string> {
  const { manifests } = options
  const unusable = manifests === undefined ? undefined : folderProblem('--manifests', manifests)
  if (unusable !== undefined) throw new OptionsError([unusable])
  const { groups, namespace } = options
  const bindings = await readBindings(options)
  const decision = bindings.decide(groups)
  const decider = decision.kind === 'matched' ? decision.binding.name : undefined
  const failed = decision.kind === 'failed' ? decision.name : undefined
  const lines = [
    `Groups: ${groups.length === 0 ? 'none' : groups.map((group) => JSON.stringify(group)).join(', ')}`,
    `GroupBindings in namespace ${namespace}, in the order of evaluation:`,
    ...bindings.explain(groups).map(({ name, result }) => {
      const said = result instanceof ExpressionError ? `${result.code}: ${result.summary}` : result
      const mark = name === decider || name === failed ? '   <- decides' : ''
      return `  ${name}: ${said}${mark}`
    }),
  ]
  for (const { name, problem } of bindings.ordered) {
    if (problem !== undefined) lines.push('', `${name} is not valid:`, indent(problem))
  }
  lines.push('')
  if (decision.kind === 'matched') {
    const { moduleResources = [], providerResources = [] } = decision.binding.spec
    lines.push(
      `Result: ${decision.binding.name} matches. In addition to what is public, the caller sees`,
      `  modules: ${moduleResources.join(', ') || 'none'}`,
      `  providers: ${providerResources.join(', ') || 'none'}`,
    )
  } else if (decision.kind === 'failed') {
    lines.push(`Result: denied (403), because ${decision.name} could not be evaluated.`)
  } else {
    lines.push('Result: no GroupBinding matches. The caller sees what is public.')
  }
  return `${lines.join('\n')}\n`
}

async function readBindings(options: ExplainCommandOptions): Promise<GroupBindings> {
  const { manifests, kubeconfig, apiGroup, namespace } = options
  const log = createLogger('silent')
  const metrics = createMetrics({ version: 'explain' })
  const bindings = new GroupBindings({ namespace, log, metrics })
  if (manifests !== undefined) {
    const probe = { stat: async () => undefined, digest: noArchive }
    const source = await watchManifests({
      dir: manifests,
      apiGroup,
      sink: bindings,
      probe,
      log,
      metrics,
    })
    await source.close()
    return bindings
  }
  const connection = loadConnection({ kubeconfig, env: process.env })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  const { ready } = cluster.watch({
    kinds: ['GroupBinding'],
    scope: { bindingsNamespace: namespace },
    sink: bindings,
  })
  try {
    if (await Promise.race([ready.then(() => true), sleep(timeoutMs, false)])) return bindings
  } finally {
    await cluster.close()
  }
  throw new OptionsError([
    `the cluster did not answer within ${timeoutMs / 1000} seconds: check --kubeconfig, and that you may list and watch the GroupBindings of namespace ${namespace}`,
  ])
}

function noArchive(): Promise<never> {
  return Promise.reject(new TypeError('there are no archives here'))
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}
