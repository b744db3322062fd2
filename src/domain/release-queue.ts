export interface Claimant {
  readonly status: string;
  readonly expiresAt: number;
}
