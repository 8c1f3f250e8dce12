"""What `@observe` is made of.

decorator   the decorator            plan        what to take out of every call of one function
extract     selectors                annotations what can be checked of them while decorating
shapes      what is found without    documents   chunks of any library, by shape
call        one call and its span    content     the attributes of that span
streams     calls that go on         transcript  what a stream has said so far
session     who is asking, and what was retrieved
"""
