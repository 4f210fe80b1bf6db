/**
 * A resourceVersion as a number, so that two of one kind can be compared. API servers count every write of the cluster,
 * so an object that was deleted and made again has the higher number too.
 *
 * @returns NaN where the source does not number its revisions: it compares as neither older nor equal
 */
export function revisionOf(resourceVersion: string): number {
  return /^\d{1,15}$/.test(resourceVersion) ? Number(resourceVersion) : Number.NaN
}
