/** The error that a client throws: a refusal of the service, or the code UNREACHABLE when no answer came. */

interface ApiErrorFields {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Seconds after which a repeat makes sense, where the service names them. */
  readonly retryAfter: number | null;
}

/** An answer that is no success. Match on `code`; `detail` has the keys that the API lists for it. */
export class ApiError extends Error {
  /** The HTTP status, 0 when the service could not be reached. */
  readonly status: number;
  readonly code: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly retryAfter: number | null;

  constructor({ status, code, message, detail, retryAfter }: ApiErrorFields, cause?: unknown) {
    super(message, { cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}

/**
 * Whether something thrown is an ApiError, of this code when one is given; also one of another copy of this module, as
 * pages have that use several packages.
 */
export function isApiError(error: unknown, code?: string): error is ApiError {
  return (
    error instanceof Error &&
    error.name === 'ApiError' &&
    'code' in error &&
    (code === undefined || error.code === code)
  );
}

/** The service could not be reached, or did not answer in time. */
export function unreachable(cause: unknown): ApiError {
  const message = 'The service cannot be reached.';
  return new ApiError({ status: 0, code: 'UNREACHABLE', message, detail: {}, retryAfter: null }, cause);
}

/** The error in an answer, whatever its body is: a proxy may answer with a page. */
export function apiErrorOf(status: number, body: unknown, retryAfter: number | null): ApiError {
  const { code, message, detail } = (typeof body === 'object' && body !== null ? body : {}) as Partial<ApiErrorFields>;
  return new ApiError({
    status,
    code: code ?? `HTTP_${status}`,
    message: message ?? `The service answered with status ${status}.`,
    detail: detail ?? {},
    retryAfter,
  });
}
