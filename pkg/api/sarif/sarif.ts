/**
 * Results in the format of tools for static analysis, which code hosts show next to the lines of a change.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */

/** Something that keeps results from being all there is. After an error, the run was not successful. */
export type SarifNotice = readonly [level: 'error' | 'warning', text: string]

/** A log of one run. @param notices undefined if the tool has none */
export const sarifLog = (
  driver: { readonly name: string; readonly version?: string; readonly rules: readonly object[] },
  results: readonly object[],
  notices?: readonly SarifNotice[],
) => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [{ tool: { driver }, ...(notices && { invocations: [invocationOf(notices)] }), results }],
})

const invocationOf = (notices: readonly SarifNotice[]) => ({
  executionSuccessful: notices.every(([level]) => level !== 'error'),
  toolExecutionNotifications: notices.map(([level, text]) => ({ level, message: { text } })),
})

/** The place of a result in a file. */
export const sarifPlace = (file: string, line: number | undefined) => ({
  physicalLocation: {
    artifactLocation: { uri: encodeURI(file.replaceAll('\\', '/')) },
    ...(line === undefined ? {} : { region: { startLine: line } }),
  },
})
