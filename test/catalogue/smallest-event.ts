/** The smallest valid event in the file form; tests add the fields that they are about. */
export const smallestEvent = {
  id: 'evt_small',
  slug: 'small',
  name: 'Small',
  currency: 'EUR',
  performances: [{ id: 'd1' }],
  localities: [{ id: 'floor', capacity: 10 }],
  ticketTypes: [{ id: 'adult' }],
  sellingStages: [{ id: 'general', prices: { adult: 1000 } }],
};

/** A numbered hall of two sections, six and four seats in a row. */
export const smallHall = {
  id: 'hall',
  seating: 'NUMBERED',
  sections: [
    { id: 'A', rows: [{ seats: 6, aisle_after: [3] }, { seats: 6 }] },
    { id: 'B', zone_key: 'cheap', rows: [{ seats: 4 }] },
  ],
};
