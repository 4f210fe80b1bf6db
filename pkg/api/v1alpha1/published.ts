import * as z from 'zod'
import { text } from '../schema/schema.ts'

const claim = z.string().max(1000).optional()

/** The caller who published a version: claims that the controller verified. */
export const Published = z
  .object({
    by: claim.describe('Subject of the token, or user of the cluster.'),
    issuer: claim.describe('Issuer of the token.'),
    repository: claim.describe('Repository of the CI job.'),
    ref: claim.describe('Git ref of the CI job, such as refs/tags/v1.0.0.'),
    commit: claim.describe('Commit of the CI job.'),
    runUrl: claim.describe('Page of the CI job. Always https.'),
    at: text('Time when the controller accepted the version, RFC 3339.'),
  })
  .describe('Who published this version over HTTP, and from where. From the verified token alone.')
export type Published = z.infer<typeof Published>

/** The origin of a publication, before it has a time. */
export type PublishedBy = Omit<Published, 'at'>
