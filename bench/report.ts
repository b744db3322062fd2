export async function renderReport(): Promise<void> {}
