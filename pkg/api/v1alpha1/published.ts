import * as z from 'zod'

const text = z.string().max(1000).optional()

/** The caller who published a version: claims that the controller verified. */
export const Published = z
  .object({
    by: text.describe('Subject of the token, or user of the cluster.'),
    issuer: text.describe('Issuer of the token.'),
    repository: text.describe('Repository of the CI job.'),
    ref: text.describe('Git ref of the CI job, such as refs/tags/v1.0.0.'),
    commit: text.describe('Commit of the CI job.'),
    runUrl: text.describe('Page of the CI job. Always https.'),
    at: z.string().describe('Time when the controller accepted the version, RFC 3339.'),
  })
  .describe('Who published this version over HTTP, and from where. From the verified token alone.')
export type Published = z.infer<typeof Published>

/** The origin of a publication, before it has a time. */
export type PublishedBy = Omit<Published, 'at'>
