/** What an event says about itself, and what is said where scripts are switched off. */
export const show = {
  entrance: (hour: string) => `Admission from ${hour}`,
  lineup: 'With',
  dates: 'Dates',
  prices: 'Prices',
  cancelled: 'cancelled',
  soldOut: 'sold out',
  /** The description of a shared link. */
  about: (when: string, where: string | null) => (where === null ? when : `${when}, ${where}`),
  ticketsFrom: (price: string) => `Tickets from ${price}.`,
  freeTickets: 'Free tickets.',
};

export const noScript = {
  title: 'Please switch JavaScript on',
  why: 'This shop shows free seats and holds them for you as you choose. For that your browser has to run the shop’s own script; it loads none from elsewhere.',
  how: 'Switch JavaScript on for this site and load the page again. Orders and tickets that you have work without it.',
};
