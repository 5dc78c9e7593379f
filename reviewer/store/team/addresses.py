"""Which addresses a webhook may have: https, or http within a private network, none that serves a machine's keys."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from agent.language import tr
from reviewer.store.errors import NotAllowed

LONGEST_URL = 500

# Not all that `is_private` names: that has every address without a global route.
_PRIVATE = tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
# Where cloud providers serve the keys of a machine, beside link-local addresses: AWS, Scaleway and Google Cloud over
# IPv6; Alibaba Cloud in the carriers' network, Oracle in that of protocols; Azure's agent.
_KEYS = tuple(
    map(
        ip_network,
        ("fd00:ec2::/32", "fd00:42::/32", "fd20:ce::/32", "100.64.0.0/10", "192.0.0.0/24", "168.63.129.16/32"),
    )
)
# In a network with IPv6 only, all IPv4 addresses are reached through these.
_NAT64 = IPv6Network("64:ff9b::/96")


def is_inside(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is of this machine or of a private network."""
    if address in _NAT64:
        return False  # it leads through the translator of the network
    address = _unmapped(address)
    return address.is_loopback or any(address in network for network in _PRIVATE)


def is_refused(address: IPv4Address | IPv6Address) -> bool:
    """Return whether nothing is sent to an address: those at which cloud providers serve the keys of a machine
    (link-local ones, and those of ``_KEYS``), multicast, and those that are no address of a host."""
    address = _unmapped(address)
    special = address.is_link_local or address.is_multicast or address.is_unspecified or address.is_reserved
    return (special and not address.is_loopback) or any(address in network for network in _KEYS)


def _unmapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address stands for; any other one as it is."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address


def clean_url(text: str) -> str:
    """Return the address of a webhook.

    https, or http to an address of this machine or a private network: on the way there nobody else reads along.

    :raises NotAllowed: it cannot be used
    """
    url = text.strip()
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url or not host:
        raise NotAllowed(
            tr(
                "Address of the webhook: found {url}, expected an address such as https://example.org/hook, of at most "
                "{most} ASCII characters.",
                url=repr(url[:80]),
                most=LONGEST_URL,
            )
        )
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise NotAllowed(tr("Address of the webhook: expected no user, password or #fragment in it."))
    if parts.scheme != "https" and not (parts.scheme == "http" and _may_be_plain(host)):
        raise NotAllowed(
            tr(
                "Address of the webhook: found {scheme}://{host}, expected https. http is accepted only for localhost "
                "and IP addresses of this machine or a private network, because everybody on the way can read it.",
                scheme=parts.scheme[:20],
                host=host[:80],
            )
        )
    if (address := _address(host)) is not None and is_refused(address):
        raise NotAllowed(tr("Address of the webhook: nothing is sent to {host}.", host=host[:80]))
    return url


def _may_be_plain(host: str) -> bool:
    address = _address(host)
    return host == "localhost" if address is None else is_inside(address)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
