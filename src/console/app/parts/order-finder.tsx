/** A field that leads to an order by its id. */

export function OrderFinder() {
  const find = (submission: SubmitEvent): void => {
    submission.preventDefault();
    const id = String(new FormData(submission.currentTarget as HTMLFormElement).get('order') ?? '').trim();
    if (id !== '') location.hash = `#/orders/${encodeURIComponent(id)}`;
  };
  return (
    <form class="finder" role="search" onSubmit={find}>
      <input name="order" type="search" placeholder="ord_…" aria-label="Order id" autocomplete="off" />
      <button type="submit" class="button">
        Open order
      </button>
    </form>
  );
}
