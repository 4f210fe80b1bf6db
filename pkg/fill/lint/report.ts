import { sarifLog, sarifPlace } from '../../api/sarif/sarif.ts'
import { checks, type LintFinding, type LintResult, reasonOf } from './finding.ts'

const subjectOf = ({ object, field }: LintFinding): string =>
  [object && `${object.kind} ${[object.namespace, object.name].filter(Boolean).join('/')}`, field]
    .filter(Boolean)
    .join(' ')

/** A line for each finding, in the format of compilers, and a summary. */
export function asText({ findings, files, objects }: LintResult): string {
  const lines = findings.map((finding) => {
    const { file, line, level, check, message } = finding
    const place = line === undefined ? file : `${file}:${line}`
    const subject = subjectOf(finding)
    const rule = [check, reasonOf(finding)].filter(Boolean).join(', ')
    return `${place}: ${level}: ${subject === '' ? '' : `${subject}: `}${oneLine(message)} [${rule}]`
  })
  const errors = findings.filter(({ level }) => level === 'error').length
  const warnings = findings.length - errors
  const sum = `${some(errors, 'error')}, ${some(warnings, 'warning')} in ${some(objects, 'object')} of ${some(files, 'file')}`
  return `${[...lines, sum].join('\n')}\n`
}

const some = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** Errors of expressions have more lines that show the place; the first is enough here. */
const oneLine = (message: string): string => message.replaceAll(/(?<!\s)\s*\n\s*/g, ' ')

/** The findings, for programs. */
export function asJson({ findings, files, objects }: LintResult): string {
  const told = findings.map((finding) => ({ ...finding, reason: reasonOf(finding) }))
  return `${JSON.stringify({ files, objects, findings: told }, undefined, 2)}\n`
}

/** The findings in SARIF. */
export function asSarif({ findings }: LintResult, version: string): string {
  const rules = Object.entries(checks).map(([id, text]) => ({ id, shortDescription: { text } }))
  const results = findings.map((finding) => {
    const { check, level, file, line, message } = finding
    const reason = reasonOf(finding)
    const subject = subjectOf(finding)
    return {
      ruleId: check,
      level,
      ...(reason && { properties: { reason } }),
      message: { text: subject === '' ? message : `${subject}: ${message}` },
      locations: [sarifPlace(file, line)],
    }
  })
  const log = sarifLog({ name: 'depot lint', version, rules }, results)
  return `${JSON.stringify(log, undefined, 2)}\n`
}
