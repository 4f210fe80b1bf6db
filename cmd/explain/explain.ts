import { setTimeout as sleep } from 'node:timers/promises'
import { fanOut } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { type ExplainCommandOptions, OptionsError } from '../../pkg/base/options/options.ts'
import { folderProblem } from '../../pkg/base/run/run.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { ExpressionError } from '../../pkg/expr/expr.ts'
import { watchManifests } from '../../pkg/records/folder/folder.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { GroupBindings } from '../../pkg/registry/access/access.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'

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
  const bindings = await readBindings(options)
  const explained = explanationOf(bindings, options)
  return options.output === 'json'
    ? `${JSON.stringify(explained, null, 2)}\n`
    : textOf(explained, bindings)
}

type Explanation = ReturnType<typeof explanationOf>

function explanationOf(bindings: GroupBindings, { groups, namespace }: ExplainCommandOptions) {
  const decision = bindings.decide(groups)
  const matched = decision.kind === 'matched' ? decision.binding : undefined
  const decidedBy = decision.kind === 'failed' ? decision.name : matched?.name
  const { moduleResources = [], providerResources = [] } = matched?.spec ?? {}
  return {
    groups,
    namespace,
    /** In the order of evaluation. */
    bindings: bindings.explain(groups).map(({ name, result }) => ({
      name,
      result:
        result instanceof ExpressionError ? `${result.code}: ${result.summary}` : String(result),
      decides: name === decidedBy,
    })),
    /** `matched`, `failed` or `none`. */
    decision: decision.kind,
    decidedBy,
    /** Names and globs that the caller sees, in addition to what is public. */
    modules: moduleResources,
    providers: providerResources,
  }
}

function textOf(explained: Explanation, bindings: GroupBindings): string {
  const { groups, namespace, decision, decidedBy, modules, providers } = explained
  const lines = [
    `Groups: ${groups.length === 0 ? 'none' : groups.map((group) => JSON.stringify(group)).join(', ')}`,
    `GroupBindings in namespace ${namespace}, in the order of evaluation:`,
    ...explained.bindings.map(
      ({ name, result, decides }) => `  ${name}: ${result}${decides ? '   <- decides' : ''}`,
    ),
  ]
  for (const { name, problem } of bindings.ordered) {
    if (problem !== undefined) lines.push('', `${name} is not valid:`, indent(problem))
  }
  lines.push('')
  if (decision === 'matched') {
    lines.push(
      `Result: ${decidedBy} matches. In addition to what is public, the caller sees`,
      `  modules: ${modules.join(', ') || 'none'}`,
      `  providers: ${providers.join(', ') || 'none'}`,
    )
  } else if (decision === 'failed') {
    lines.push(`Result: denied (403), because ${decidedBy} could not be evaluated.`)
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
    sink: fanOut(new Catalog({ apiGroup }), bindings),
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
