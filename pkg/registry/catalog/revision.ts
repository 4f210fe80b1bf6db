/**
 * A hash that tells two objects of one name apart, without keeping 36 characters of each.
 *
 * @param uid of the object; empty if the source gives none
 */
export function identityOf(uid: string): number {
  let hash = 0
  for (let i = 0; i < uid.length; i += 1) hash = (Math.imul(hash, 31) + uid.charCodeAt(i)) | 0
  return hash
}

/**
 * A resourceVersion as a number, so that two of one kind can be compared. API servers count every write of the cluster,
 * so an object that was deleted and made again has the higher number too.
 *
 * @returns NaN if the source does not number its revisions: it compares as neither older nor equal
 */
export function revisionOf(resourceVersion: string): number {
  return /^\d{1,15}$/.test(resourceVersion) ? Number(resourceVersion) : Number.NaN
}
