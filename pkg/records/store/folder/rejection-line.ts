import type { Rejection } from '../../folder/folder.ts'

/** Formats `b.yaml:2: Module team/vpc is already defined in a.yaml:1; remove one of the two`. */
export function lineOf({ file, line, object, field, message }: Rejection): string {
  const place = line === undefined ? file : `${file}:${line}`
  const subject = object && `${object.kind} ${object.namespace}/${object.name}`
  return `${place}: ${[subject, field, message].filter(Boolean).join(' ')}`
}
