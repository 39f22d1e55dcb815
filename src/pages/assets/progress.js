// Moves what is still moving. Without this script the page is loaded again and again.
for (const place of document.querySelectorAll('[data-live]')) {
  const source = new EventSource(place.dataset.live);
  source.addEventListener('progress', ({ data }) => {
    place.innerHTML = data;
  });
  source.addEventListener('end', () => source.close());
  // Browsers try again by themselves, but not after a refusal.
  source.addEventListener('error', () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
  });
}
