import type { Page } from 'playwright-core'

/** Signs in with the provider's own form, and consents. */
export async function logIn(page: Page, name: string): Promise<void> {
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('any')
  await page.locator('[type=submit]').click()
  await page.getByRole('button', { name: /continue/i }).click()
}
