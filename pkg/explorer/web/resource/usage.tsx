import { lockCommand, type Tool, usageBlock } from '../../../api/usage/usage.ts'
import { boot } from '../api/boot.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Section } from '../parts/section.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { writeChoice } from '../shell/storage.ts'
import { resourceHref } from '../url/pages.ts'
import { requiredOf } from './docs/inputs.ts'
import type { SectionProps } from './section.ts'
import { chosenTool, toolsFor, usedOf } from './tool.ts'

/** The block to paste, and the commands to run next. */
export function Usage(props: SectionProps) {
  const { address, detail, values, change, version } = props
  const { shown, isLatest } = version
  const tool = chosenTool(values.tool, detail.kind)
  const link = boot.baseUrl + resourceHref(address, { version: shown ?? '' })
  return (
    <Section
      id="usage"
      words="Usage"
      about={shown && <span class="mono">{isLatest ? `${shown}, latest` : shown}</span>}
      end={<CopyButton text={link} what="link to this version" icon="link" />}
    >
      {shown === undefined || detail.lifecycle?.state === 'Quarantined' ? (
        <p>{whyNone(detail, shown)}</p>
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
            <CodeBlock text={blockOf(props)} what="usage block" hcl />
            {!version.synced && (
              <p>The block names no version: {shown} is not synced yet and cannot be installed.</p>
            )}
            <Steps tool={tool} platforms={detail.platforms ?? []} />
          </div>
        </>
      )}
    </Section>
  )
}

/** The block that uses what the page shows. */
export function blockOf({ address, detail, docs, values, version }: SectionProps): string {
  const tool = chosenTool(values.tool, detail.kind)
  const number = version.synced ? version.shown : undefined
  return usageBlock(usedOf(detail, address), tool, number, requiredOf(docs))
}

function Steps({
  tool,
  platforms,
}: {
  readonly tool: Tool
  readonly platforms: readonly string[]
}) {
  const cli = tool === 'terragrunt' ? 'terraform' : tool
  return (
    <>
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
    </>
  )
}

/** The reason if there is no block. */
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
