import { lockCommand, usageBlock } from '../../../api/usage/usage.ts'
import { boot } from '../api/boot.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { writeChoice } from '../shell/choices.ts'
import { resourceHref } from '../url/pages.ts'
import { requiredOf } from './docs/inputs.ts'
import type { SectionProps } from './section.ts'
import { chosenTool, toolsFor } from './tool.ts'
import { usedOf } from './used.ts'

/** The block to paste, and the commands to run next. */
export function Usage({ address, detail, docs, values, change, version }: SectionProps) {
  const { platforms = [] } = detail
  const tool = chosenTool(values.tool, detail.kind)
  const used = usedOf(detail, address)
  const cli = tool === 'terragrunt' ? 'terraform' : tool
  const isWithdrawn = detail.lifecycle?.state === 'Quarantined'
  const link = boot.baseUrl + resourceHref(address, { version: version.shown ?? '' })
  return (
    <section class="sec" aria-labelledby="usage">
      <header>
        <h2 id="usage">Usage</h2>
        {version.shown !== undefined && (
          <span class="quiet mono">
            {version.shown}
            {version.isLatest ? ', latest' : ''}
          </span>
        )}
        <span class="end">
          <CopyButton text={link} what="link to this version" icon="link" />
        </span>
      </header>
      {version.shown === undefined || isWithdrawn ? (
        <p>{whyNone(detail, version.shown)}</p>
      ) : (
        <>
          <Tabs
            label="Tool"
            id="tool"
            chosen={tool}
            tabs={toolsFor(detail.kind).map((it) => [it, it] as const)}
            onChoose={(it) => {
              writeChoice('tool', it)
              change({ tool: it }, 'replace')
            }}
          />
          <div id="tool-panel" role="tabpanel" aria-labelledby={`tool-${tool}`} class="steps">
            <CodeBlock
              text={usageBlock(
                used,
                tool,
                version.synced ? version.shown : undefined,
                requiredOf(docs),
              )}
              what="usage block"
              hcl
            />
            {!version.synced && (
              <p>
                The block names no version: {version.shown} is not synced yet and cannot be
                installed.
              </p>
            )}
            <Step words="Fetch it" what={`${tool} init command`} text={`${tool} init`} />
            {boot.oidc && (
              <Step
                words="First time on this machine"
                what={`${cli} login command`}
                text={`${cli} login ${boot.registryHost}`}
              />
            )}
            {platforms.length > 0 && (
              <Step
                words="Lock the hashes of every platform your team and your pipelines run on"
                what={`${tool} providers lock command`}
                text={lockCommand(tool, platforms)}
              />
            )}
          </div>
        </>
      )}
    </section>
  )
}

/** Why there is no block. */
function whyNone({ name, versions }: SectionProps['detail'], shown: string | undefined): string {
  if (shown !== undefined) return `${shown} is quarantined: choose another version.`
  return versions.length === 0
    ? `There is nothing to install yet: ${name} has no version.`
    : `There is nothing to install: no version of ${name} is offered. The list of versions says why.`
}

const Step = (props: { readonly words: string; readonly what: string; readonly text: string }) => (
  <div>
    <p>{props.words}</p>
    <CodeBlock text={props.text} what={props.what} />
  </div>
)
