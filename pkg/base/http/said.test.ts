import { expect, it } from 'vitest'
import { saidBy } from './said.ts'

it.each([
  [
    'of GitHub',
    '{"message":"API rate limit exceeded","documentation_url":"https://x"}',
    'API rate limit exceeded',
  ],
  ['of a registry', '{"errors":["Not Found","no"]}', 'Not Found, no'],
  [
    'of Google',
    '{"error":{"code":403,"message":"a@b does not have access"}}',
    'a@b does not have access',
  ],
  ['of OAuth', '{"error":"invalid_grant","error_description":"expired"}', 'invalid_grant, expired'],
  [
    'of S3',
    '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message><HostId>x</HostId></Error>',
    'Access Denied',
  ],
  [
    'in a page',
    '<html><title>No</title><style>p {}</style><p>Blocked by\r\n the  proxy</p></html>',
    'Blocked by the proxy',
  ],
  ['in text', 'disk\u0000 quota\u202e exceeded', 'disk quota exceeded'],
  ['in broken JSON', '{"message":', '{"message":'],
  ['that is empty', '', ''],
])('reads a message %s', (_, body, said) => {
  expect(saidBy(body)).toBe(said)
})

it('shows neither credentials nor queries of URLs', () => {
  const said = saidBy(
    'GET https://s3.test/x?X-Amz-Signature=abc&X-Amz-Date=1 with Authorization: Bearer eyJ.a.b or Basic dTpw',
  )
  expect(said).toBe(
    'GET https://s3.test/x?X-Amz-Signature=***&X-Amz-Date=*** with Authorization: Bearer *** or Basic ***',
  )
})

it('ends after 300 characters', () => {
  expect(Array.from(saidBy('é'.repeat(1000)))).toHaveLength(300)
})

it('reads a page of brackets at once', () => {
  expect(saidBy('<'.repeat(500_000))).toHaveLength(300)
})
